// The interface over a simulated engine, for looking at it and for measuring it. Never part of the shipped build.
// `?runs=5000&rows=100000&speed=20` in the address choose sizes.
import { createRoot } from 'react-dom/client';
import { createClient } from '../api/client.ts';
import { App } from '../app/app.tsx';
import { startStudio } from '../app/start-studio.ts';
import '../styles/index.css';
import { createFakeTransport } from './fake-transport.ts';

const query = new URLSearchParams(location.search);
const numberOf = (name: string, otherwise: number): number => Number(query.get(name) ?? otherwise);
const transport = createFakeTransport({
  runs: numberOf('runs', 240),
  rows: numberOf('rows', 1839),
  speed: numberOf('speed', 1),
  latencyMs: numberOf('latency', 15),
  isEmpty: query.has('empty'),
  isFailing: query.has('failing'),
});
const root = document.getElementById('root');
if (!root) throw new Error('preview.html has no element #root.');
createRoot(root).render(<App studio={startStudio(createClient(transport))} />);
