"""The keys of agent files that readers know, in any dialect."""

CC_ONLY = frozenset(
    {"adapterId", "modelId", "contextSize", "silenceTimeoutMinutes", "reportsTo", "systemPrompt"}
)
JARVIS_ONLY = frozenset({"override", "subagents", "whenToUse"})
QWEN_ONLY = frozenset({"approvalMode", "executor", "runConfig"})
FUXI_KEYS = frozenset(
    {
        *("name", "description", "tools", "disallowedTools", "model", "permissionMode"),
        *("maxTurns", "effort", "skills", "mcpServers", "hooks", "memory", "background"),
        *("isolation", "color", "initialPrompt"),
    }
)
JARVIS_KEYS = frozenset({"name", "description", "tools", "disallowedTools", *JARVIS_ONLY})
QWEN_KEYS = FUXI_KEYS | QWEN_ONLY
OPENCODE_KEYS = frozenset(
    {
        *("name", "description", "mode", "model", "tools", "permission", "permissions", "color"),
        *("temperature", "top_p", "steps", "maxSteps", "hidden", "disable", "prompt"),
        *("reasoningEffort", "textVerbosity", "variant"),
    }
)
COPILOT_KEYS = frozenset(
    {
        *("name", "description", "tools", "model", "mcp-servers", "target", "argument-hint"),
        *("handoffs", "infer", "user-invocable", "user-invokable", "disable-model-invocation"),
        *("agents", "metadata", "hooks", "github"),
    }
)

# Keys of other people's files that are common enough to be told from prose.
_OTHERS = frozenset(
    {
        *("title", "author", "version", "tags", "category", "id", "emoji", "vibe", "license"),
        *("dependencies", "allowed-tools"),
    }
)

KNOWN_KEYS = QWEN_KEYS | JARVIS_KEYS | OPENCODE_KEYS | COPILOT_KEYS | CC_ONLY | _OTHERS
# Their values are prose: whatever stands there may be taken as text. In lower case.
TEXT_KEYS = frozenset(
    {
        *("description", "whentouse", "title", "initialprompt", "argument-hint", "vibe"),
        *("author", "systemprompt", "license", "emoji"),
    }
)
