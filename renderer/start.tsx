// The window's start: the transport of this host, then the first paint. Loaded by main.ts once zod is set up.
import { createRoot } from 'react-dom/client';
import { createClient, type StudioTransport } from './api/client.ts';
import { createElectronTransport } from './api/transports/electron.ts';
import { createWebTransport, openSession } from './api/transports/web.ts';
import { App } from './app/app.tsx';
import { startStudio } from './app/start-studio.ts';
import { takeToken } from './store/address.ts';
import './styles/index.css';

/** The token leaves the address before anything else sees it; the rest of the address stays. */
async function signIn(): Promise<void> {
  const { token, rest } = takeToken(location.hash);
  if (token === null) return;
  history.replaceState(null, '', `${location.pathname}${location.search}${rest}`);
  // A refused token shows as a refused line: the first request says so.
  await openSession(token).catch(() => false);
}

async function openTransport(): Promise<StudioTransport> {
  if (window.agentcanvas) return createElectronTransport(window.agentcanvas);
  await signIn();
  return createWebTransport();
}

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no element #root.');
const studio = startStudio(createClient(await openTransport()));
createRoot(root).render(<App studio={studio} />);
