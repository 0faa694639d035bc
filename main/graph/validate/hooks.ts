// Hooks: they need a POSIX shell, and a time limit that is one.
import { executableFields } from '../graph-tools.ts';
import type { RuleContext } from './context.ts';

export function hookRules(context: RuleContext): void {
  const commands = executableFields(context.definition);
  if (commands.length > 0 && context.platform === 'win32') {
    context.report({
      severity: 'warning',
      rule: 'hooks-unsupported',
      message: `${commands.length} hook${commands.length === 1 ? '' : 's'} will not run: hooks run through /bin/sh, which this system does not have`,
      fix: 'Run the graph on Linux or macOS, or disable its hooks.',
    });
  }
  for (const [index, hook] of context.definition.hooks.entries()) {
    if (hook.enabled && !(hook.timeout_ms > 0)) {
      context.report({
        severity: 'warning',
        rule: 'hook-timeout',
        message: `hooks[${index}] has a timeout of ${hook.timeout_ms} ms, so its answer never counts`,
        fix: 'Set timeout_ms to the milliseconds the command may take, or disable the hook.',
      });
    }
  }
}
