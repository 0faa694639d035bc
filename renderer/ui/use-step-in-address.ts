// The step of a recorded episode in the address: written once it stands, and followed when the address names another.
import { useEffect, useRef } from 'react';
import type { Page } from '../store/address.ts';
import { useAddress, useStudio } from '../store/use-studio.tsx';

export interface StandingStep {
  readonly page: Page;
  readonly step: number;
  readonly isPlaying: boolean;
  /** -1 while unknown. */
  readonly lastStep: number;
  /** Stable: the address names another step. */
  readonly onAsked: (step: number) => void;
}

const settleMs = 250;

export function useStepInAddress({ page, step, isPlaying, lastStep, onAsked }: StandingStep): void {
  const { navigation } = useStudio();
  const asked = useAddress().step;
  const written = useRef(asked);
  useEffect(() => {
    if (asked === null || asked === written.current) return;
    written.current = asked;
    onAsked(asked);
  }, [asked, onAsked]);
  const first = useRef(step);
  useEffect(() => {
    if (isPlaying || lastStep < 0 || step === first.current) return undefined;
    const timer = setTimeout(() => {
      first.current = -1;
      written.current = step;
      if (navigation.get().page === page) navigation.change({ step });
    }, settleMs);
    return () => clearTimeout(timer);
  }, [navigation, page, step, isPlaying, lastStep]);
}
