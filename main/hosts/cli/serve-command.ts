// `agentcanvas serve`: the interface in a browser, on this machine or through an SSH tunnel. Runs until it is stopped.
import type { Command } from 'commander';
import { once } from 'node:events';
import { systemClock } from '../../base/clock.ts';
import { StudioError } from '../../base/errors.ts';
import { startWebHost } from '../web.ts';
import { collect } from './collect.ts';
import { runCommand, type CommandContext, type GlobalOptions } from './context.ts';

interface ServeOptions {
  readonly port: string;
  readonly host: string;
  readonly allowHost?: readonly string[];
}

export function addServeCommand(program: Command, context: CommandContext): void {
  program
    .command('serve')
    .description('Serve the interface to a browser; the address it prints carries the key')
    .option('--port <n>', '0 takes any free one', '0')
    .option('--host <address>', 'address to bind', '127.0.0.1')
    .option('--allow-host <name>', 'also answer to this host name; may be given several times', collect)
    .action((own: ServeOptions) =>
      runCommand(context, program.opts<GlobalOptions>(), async ({ studio }, output) => {
        if (!studio)
          throw new StudioError(
            'workspace_busy',
            'Another process already owns this workspace. Use its window or address, or give another --workspace.',
          );
        studio.releaseQueue();
        const port = Number(own.port);
        if (!Number.isInteger(port) || port < 0 || port > 65_535)
          throw new StudioError('invalid_input', `--port takes 0 to 65535, not "${own.port}".`);
        await using host = await startWebHost({
          engine: studio,
          clock: systemClock,
          logger: studio.logger,
          rendererFolder: studio.layout.renderer,
          host: own.host,
          port,
          allowedHosts: own.allowHost ?? [],
        });
        output.emit({ event: 'serving', address: host.address, port: host.port });
        output.print(`AgentCanvas is at ${host.address}`);
        output.print('The address carries the key to this session; Ctrl-C ends it.');
        await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM'), once(process, 'SIGHUP')]);
      }),
    );
}
