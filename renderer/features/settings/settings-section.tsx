// One part of the settings, with its anchor.
import type { ReactNode } from 'react';

export interface SettingsSectionProps {
  readonly id: string;
  readonly title: string;
  readonly intro?: string;
  readonly children: ReactNode;
}

export function SettingsSection({ id, title, intro, children }: SettingsSectionProps) {
  return (
    <section id={id} className="settings-section" aria-label={title}>
      <h2>{title}</h2>
      {intro ? <p className="muted">{intro}</p> : null}
      {children}
    </section>
  );
}
