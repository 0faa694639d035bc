// Where an installed app looks for updates: the releases of the repository whose workflow built and signed it. A build
// that is not signed has no feed at all.

/** For electron-builder's `publish`; null without a signature. Throws when a signed build has no repository. */
export function updateFeed(environment) {
  if (environment.AGENTCANVAS_SIGNED !== '1') return null;
  const [owner, repo, ...rest] = (environment.GITHUB_REPOSITORY ?? '').split('/');
  if (!owner || !repo || rest.length > 0)
    throw new Error('A signed build needs GITHUB_REPOSITORY=OWNER/NAME: there it looks for its updates.');
  return { provider: 'github', owner, repo, releaseType: 'release' };
}
