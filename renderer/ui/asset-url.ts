// Addresses of recorded files as the page loads them: both hosts answer them on the page's own origin.

/** Only what the contract gives: a path on this origin, never another place. */
export function assetUrl(address: string): string {
  return address.startsWith('/') && !address.startsWith('//') ? address : '';
}
