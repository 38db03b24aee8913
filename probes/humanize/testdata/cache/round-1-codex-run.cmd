# Codex invocation debug info
# Timestamp: 2026-03-01T09:40:00Z
# Working directory: /w
# Timeout: 900 seconds

codex exec
