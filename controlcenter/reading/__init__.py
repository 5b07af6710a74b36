"""Makes text of agents, skills and repositories readable and harmless. Pure: text in, HTML out."""
