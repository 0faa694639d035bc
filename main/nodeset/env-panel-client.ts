// Env panels behind one interface: of a host process, and of a nodeset that lives in the engine.
import type { PanelInfo, PanelState } from '../contract/nodeset.ts';
import { StudioError } from '../base/errors.ts';
import type { EnvPanelSpec } from './author/agentcanvas.ts';
import type { CallDeadlines } from './deadlines.ts';
import type { HostLink } from './host-link.ts';
import type { CallLimits, EnvPanelClient } from './ports.ts';
import { panelInfoFromWire, panelInfoToWire, panelStateFromWire, panelStateToWire } from './wire-form.ts';

export function createRemotePanel(link: HostLink, deadlines: CallDeadlines): EnvPanelClient {
  const ask = async (
    method: string,
    params: Readonly<Record<string, unknown>>,
    limits: CallLimits = {},
  ): Promise<unknown> =>
    await link.call(method, params, {
      timeoutMs: limits.timeoutMs ?? deadlines.callMs,
      phase: 'call',
      signal: limits.signal,
    });
  const change = async (
    method: string,
    params: Readonly<Record<string, unknown>>,
    limits: CallLimits = {},
  ): Promise<PanelState> => {
    const timeoutMs = limits.timeoutMs ?? deadlines.resetMs;
    return panelStateFromWire(
      await link.call(method, params, { timeoutMs, phase: 'reset', signal: limits.signal }),
      link.instance,
    );
  };
  return {
    info: async (limits): Promise<PanelInfo> =>
      panelInfoFromWire(await ask('panel.info', {}, limits), link.instance),
    load: (limits) => change('panel.load', {}, limits),
    changeField: (name, value, limits) => change('panel.field', { name, value }, limits),
    act: (name, values, limits) => change('panel.action', { name, values }, limits),
    async options(name, limits) {
      const answer = await ask('panel.options', { name }, limits);
      if (
        answer !== null &&
        typeof answer === 'object' &&
        'options' in answer &&
        Array.isArray(answer.options)
      )
        return answer.options;
      throw new StudioError(
        'remote_error',
        `${link.instance} answered the options of "${name}" without a list`,
      );
    },
  };
}

/** Limits do not apply: the author's code runs in the engine and cannot be interrupted. */
export function createLocalPanel(panel: EnvPanelSpec, nodeset: string): EnvPanelClient {
  const state = async (stated: unknown): Promise<PanelState> =>
    panelStateFromWire(panelStateToWire(await stated), nodeset);
  return {
    info: () =>
      Promise.resolve(
        panelInfoFromWire(panelInfoToWire({ fields: panel.fields, actions: panel.actions }), nodeset),
      ),
    load: async () => await state(panel.onLoad()),
    changeField: async (field, value) => await state(panel.onFieldChange(field, value)),
    act: async (action, values) => await state(panel.onAction(action, values)),
    options: async (field) => await panel.getOptions(field),
  };
}
