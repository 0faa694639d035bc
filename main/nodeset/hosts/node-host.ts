// The host program of TypeScript nodesets: `node node-host.ts --file BUNDLE --name NAME [--instance name#k]`.
// Serves one compiled nodeset over the host protocol; `--manifest-only` prints its manifest and exits.
