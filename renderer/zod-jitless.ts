// Imported before anything else: zod must not build code from strings, which the content security policy forbids.
import { z } from 'zod';

z.config({ jitless: true });
