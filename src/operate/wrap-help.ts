/** What `elicitgate wrap --help` says beside its options; apart from the command, which takes longer to load. */
export const wrapHelp = `
In a client's configuration, in place of the server's own command:

  claude_desktop_config.json, Cursor's mcp.json
    { "mcpServers": { "brave": { "command": "npx",
      "args": ["-y", "elicitgate", "wrap", "--env", "BRAVE_API_KEY", "--", "npx", "-y", "@brave/brave-search-mcp-server"] } } }

  .vscode/mcp.json
    { "servers": { "brave": { "type": "stdio", "command": "npx",
      "args": ["-y", "elicitgate", "wrap", "--env", "BRAVE_API_KEY", "--", "npx", "-y", "@brave/brave-search-mcp-server"] } } }

  a server over HTTP
    elicitgate wrap --header X-API-Key https://mcp.example.com/mcp

The first call of a tool is answered with a link to a page on this machine, where the key is given once.
Authorization is sent as "Bearer KEY". What was given lies sealed in your data folder.
`;
