// The layout engine as a worker: it listens for itself once it is loaded.
import 'elkjs/lib/elk-worker.min.js';
