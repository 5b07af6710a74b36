/* What programs in languages without a reader of their own do: a fault is mostly two deeds that meet
   in one file. `languages` lists those that a rule reads, `id` the entry of catalogue.yaml. */

private rule sends_ps { strings:
    $a = /\b(invoke-restmethod|invoke-webrequest|\birm\b|\biwr\b|uploadstring|uploadfile|uploaddata|tcpclient|httpclient|send-mailmessage|start-bitstransfer|curl(\.exe)?)\b/ nocase
  condition: $a }
private rule fetches_ps { strings:
    $a = /\b(invoke-restmethod|invoke-webrequest|irm|iwr|downloadstring|downloadfile|downloaddata|start-bitstransfer|curl(\.exe)?|wget|certutil)\b/ nocase
  condition: $a }
private rule key_path { strings:
    $a = /[\/\\]\.(ssh|aws|kube|gnupg|netrc|git-credentials|config[\/\\]gcloud)\b/ nocase
    $b = /\bid_(rsa|ed25519|ecdsa|dsa)\b/ nocase
    $d = /(Login Data|Cookies|cookies\.sqlite|logins\.json|key4\.db|wallet\.dat)["']/
    $e = /\.(bash|zsh|psql)_history/
    $f = /[\/\\"]\.(npmrc|pypirc|yarnrc|vault-token|pgpass|docker[\/\\]config\.json|cargo[\/\\]credentials)\b/
  condition: any of them }

rule ps_runs_fetched { meta: id = "code.other-language" languages = "powershell batch"
  strings:
    $run1 = /\b(iex|invoke-expression|scriptblock\]::create|start-process|invoke-item|invoke-command|\[reflection\.assembly\]::load|&\s*\(|&\s*\$|\.\s*\(\[scriptblock)/ nocase
    $run2 = /(&&|&|;|\n)\s{0,8}(start\s|call\s|%temp%|\$env:temp)[^\n]{0,80}\.(exe|ps1|bat|cmd|msi)/ nocase
    $run3 = /&\s{0,4}"?[\w:%\\\$.]{1,60}\.exe/ nocase
  condition: fetches_ps and any of them }
rule ps_sends_private { meta: id = "code.secret-sent" languages = "powershell"
  strings:
    $env = /(get-childitem|gci|dir|ls)\s+(-path\s+)?env:|getenvironmentvariables/ nocase
    $clip = /get-clipboard|copyfromscreen/ nocase
  condition: sends_ps and (key_path or any of them) }
rule ps_lowers { meta: id = "code.lowers-guard" languages = "powershell batch registry"
  strings:
    $a = /(set|add)-mppreference/ nocase
    $b = /amsiutils|amsiinitfailed|amsiscanbuffer|etweventwrite/ nocase
    $c = /set-executionpolicy\s[^\n]{0,40}(bypass|unrestricted)/ nocase
    $d = /netsh\s+advfirewall\s+set|set-netfirewallprofile[^\n]{0,60}false/ nocase
    $e = /vssadmin[^\n]{0,20}delete|wbadmin[^\n]{0,20}delete|bcdedit[^\n]{0,60}recoveryenabled/ nocase
    $f = /clear-eventlog|wevtutil(\.exe)?\s+cl\b/ nocase
    $g = /(disableantispyware|disablerealtimemonitoring|enablelua)/ nocase
    $h = /net\s+localgroup\s+administrators\s/ nocase
  condition: any of them }
rule ps_persists { meta: id = "code.persistence" languages = "powershell batch registry"
  strings:
    $a = /currentversion\\{1,2}run(once)?\b/ nocase
    $b = /schtasks(\.exe)?\s[^\n]{0,40}\/create|register-scheduledtask|new-scheduledtask(action|trigger)/ nocase
    $c = /(add|set)-content\s[^\n]{0,20}\$profile|>>?\s*\$profile/ nocase
    $d = /new-service\s|sc(\.exe)?\s+create\s/ nocase
    $e = /start menu\\programs\\startup|shell:startup/ nocase
    $f = /__eventfilter|commandlineeventconsumer/ nocase
    $g = /winlogon\\{1,2}(shell|userinit)/ nocase
  condition: any of them }
rule ps_shell_away { meta: id = "code.reverse-shell" languages = "powershell"
  strings: $a = /sockets\.tcpclient/ nocase $b = /getstream\(/ nocase $c = /\b(iex|invoke-expression|start-process|cmd\.exe|powershell\.exe)\b/ nocase
  condition: all of them }
rule ps_destroys { meta: id = "code.destructive" languages = "powershell batch"
  strings:
    $a = /remove-item\s[^\n]{0,60}(\$home|\$env:userprofile|~[\/\\]|c:\\(users|windows)?)[^\n]{0,40}/ nocase
    $b = /format-volume|clear-disk|\bformat\s+[a-z]:|\bcipher\s+\/w/ nocase
    $c = /\b(rd|rmdir|del)\s+[^\n]{0,20}\/s[^\n]{0,20}(c:\\|%userprofile%|%systemroot%)/ nocase
  condition: any of them }
rule ps_spelled_odd { meta: id = "code.obfuscated" languages = "powershell"
  strings:
    $a = /['"]i['"]?\s*\+\s*['"]?ex['"]|['"]ie['"]\s*\+\s*['"]x['"]/ nocase
    $b = /-join\s*\(?\s*\(?[\d\s,()|%{\[char\]}]{12,}/ nocase
    $c = /\[char\]\s*\(?\s*\d+\s*\)?\s*\+\s*\[char\]/ nocase
    $d = /\$env:comspec\[[\d,]+\]|\$pshome\[\d+\]/ nocase
  condition: any of them }
rule ps_lolbin { meta: id = "code.other-language" languages = "powershell batch vbs"
  strings:
    $a = /rundll32(\.exe)?\s[^\n]{0,20}(javascript|url\.dll|\\\\)/ nocase
    $b = /wmic\s[^\n]{0,20}process\s+call\s+create/ nocase
    $c = /mshta(\.exe)?\s[^\n]{0,10}(http|javascript|vbscript)/ nocase
    $d = /regsvr32[^\n]{0,40}\/i:/ nocase
    $e = /(installutil|msbuild|cmstp|odbcconf|forfiles)(\.exe)?\s[^\n]{0,60}https?:/ nocase
    $f = /frombase64string/ nocase
  condition: any of ($a, $b, $c, $d, $e) or ($f and fetches_ps) }

private rule net_rb { strings: $a = /Net::HTTP|URI\.open|open-uri|URI\(|TCPSocket|HTTParty|Faraday|RestClient|Excon|Typhoeus|Socket\.tcp/ condition: $a }
private rule net_pl { strings: $a = /LWP::|HTTP::Tiny|IO::Socket|\bget\s*\(?\s*['"]https?:|WWW::Mechanize|Net::FTP/ condition: $a }
private rule net_php { strings: $a = /curl_exec|file_get_contents\s*\(\s*['"]https?:|fopen\s*\(\s*['"]https?:|fsockopen|stream_socket_client|\\?GuzzleHttp|stream_context_create/ condition: $a }
private rule net_go { strings: $a = /http\.(Post|Get|NewRequest|PostForm|Client|DefaultClient)|net\.Dial|smtp\.SendMail/ condition: $a }
private rule net_rs { strings: $a = /reqwest::|ureq::|TcpStream::connect|hyper::|isahc::|surf::/ condition: $a }
private rule net_jvm { strings: $a = /HttpClient|HttpURLConnection|URL\(|new Socket\(|OkHttp|\.toURL\(\)|openStream\(/ condition: $a }
private rule net_other { strings: $a = /socket\.http|http\.request|download\.file|url\(|HTTP\.(get|post|request)|URLSession|HttpClient|httpc:request|HTTPoison|Req\.(get|post)|hackney|http::(geturl|request)|newHttpClient/ condition: $a }

rule rb_runs_fetched { meta: id = "code.other-language" languages = "ruby"
  strings:
    $run = /\b(eval|instance_eval|class_eval|module_eval|Kernel\.eval|load)\b\s*\(?\s*[\w$@.:\[]/
    $send = /\.(send|public_send|__send__|method)\s*\(?\s*[:"'](eval|system|exec|instance_eval|`)/
    $pack = /\[[^\]\n]{4,2000}\]\.pack\(['"][HmUC]/
    $decode = /Base64\.(strict_|urlsafe_)?decode64|\.unpack1?\(['"][mHu]|Zlib::Inflate|\.tr\(['"]A-Za-z|Marshal\.load/
  condition: ($run and (net_rb or $decode or $pack)) or $send }
rule rb_sends_private { meta: id = "code.secret-sent" languages = "ruby"
  condition: net_rb and key_path }
rule pl_runs_fetched { meta: id = "code.other-language" languages = "perl"
  strings:
    $run = /\b(eval|do)\s*[\(\s]\s*(\$|pack|decode|unpack|get\b|uncompress|join|reverse|MIME)/
    $decode = /decode_base64|pack\s*\(?\s*['"][HhU]|unpack\s*\(?\s*['"]u|uncompress|tr\/A-Za-z\/N-Z|map\s*\{?\s*chr\b/
  condition: $run and (net_pl or $decode) }
rule pl_sends_private { meta: id = "code.secret-sent" languages = "perl"
  strings: $env = /%ENV\b|join[^\n]{0,40}\bENV\b/
  condition: net_pl and (key_path or $env) }
rule php_runs_given { meta: id = "code.other-language" languages = "php"
  strings:
    $run = /\b(eval|assert|create_function|call_user_func(_array)?|system|exec|shell_exec|passthru|popen|proc_open|preg_replace\s*\(\s*['"]\/[^'"]*\/e)\s*\(/ nocase
    $var = /\$\w+\s*\(\s*\$_(GET|POST|REQUEST|COOKIE|SERVER)/
    $given = /\$_(GET|POST|REQUEST|COOKIE)\b|php:\/\/input/
    $decode = /base64_decode|gzinflate|gzuncompress|str_rot13|hex2bin|convert_uudecode|strrev/ nocase
    $cut = /['"](ba|base|base64_?|ev|ass|sys|she|exe)['"]\s*\.\s*['"]/
    $inc = /\b(include|require)(_once)?\s*\(?\s*['"]https?:/
    $direct = /\b(eval|assert)\s*\(\s*(file_get_contents|curl_exec|\$\w+\s*\()/ nocase
  condition: $var or $inc or $direct or ($cut and ($run or $decode)) or ($run and $decode) or
    (for any i in (1..#run) : (for any j in (1..#given) : (@given[j] > @run[i] and @given[j] - @run[i] < 80))) }
rule php_sends_private { meta: id = "code.secret-sent" languages = "php"
  condition: net_php and key_path }
rule go_sends_private { meta: id = "code.secret-sent" languages = "go"
  condition: net_go and key_path }
rule go_runs_fetched { meta: id = "code.other-language" languages = "go"
  strings: $exec = "exec.Command(" $write = /os\.(Create|WriteFile|OpenFile)/ $mode = /0o?7[0-7][0-7]/ $plugin = "plugin.Open("
  condition: net_go and (($exec and $write and $mode) or $plugin) }
rule rs_sends_private { meta: id = "code.secret-sent" languages = "rust"
  condition: net_rs and key_path }
rule jvm_sends_private { meta: id = "code.secret-sent" languages = "jvm cs"
  condition: net_jvm and key_path }
rule jvm_runs_fetched { meta: id = "code.other-language" languages = "jvm cs"
  strings:
    $a = "URLClassLoader" $b = /defineClass\s*\(/ $c = /\b(evaluate|Eval\.me|GroovyShell|ScriptEngineManager)\b/
    $d = /Assembly\.Load\s*\(/ $e = "ObjectInputStream"
  condition: ($a or $b or $c or $d or $e) and net_jvm }
rule other_runs_fetched { meta: id = "code.other-language" languages = "lua r julia elixir other"
  strings:
    $lua = /\b(load|loadstring|dofile)\s*\(/ $r = /\bsource\s*\(\s*['"]https?:|eval\s*\(\s*parse/ $jl = /include_string|Meta\.parse|eval\(/ $ex = /Code\.eval_/
    $tcl = /\beval\b|\bsource\b/
  condition: $r or (net_other and any of ($lua, $jl, $ex, $tcl)) }
rule lua_runs_numbers { meta: id = "code.other-language" languages = "lua"
  strings: $a = /\b(load|loadstring)\s*\(+\s*["'][^"'\n]{0,20}\\\d{2,3}/
  condition: $a }
rule other_sends_private { meta: id = "code.secret-sent" languages = "lua r julia elixir other"
  condition: net_other and key_path }

rule shell_in_words { meta: id = "code.other-language" languages = "julia tcl elixir lua other"
  strings:
    $a = /\b(curl|wget)\b[^\n]{0,160}\b(ba|z|da)?sh\b/ $b = /pipeline\s*\(\s*`(curl|wget)/
  condition: any of them }
rule sql_runs { meta: id = "code.other-language" languages = "sql"
  strings:
    $a = /\bTO\s+PROGRAM\b|\bFROM\s+PROGRAM\b|xp_cmdshell|sp_OACreate|lo_export|INTO\s+(OUTFILE|DUMPFILE)|sys_exec\s*\(|utl_http|dblink_connect/ nocase
  condition: $a }
rule sql_destroys { meta: id = "code.destructive" languages = "sql"
  strings: $a = /\bDROP\s+(DATABASE|SCHEMA)\s+(IF\s+EXISTS\s+)?(prod|main|live|public)/ nocase
  condition: $a }
