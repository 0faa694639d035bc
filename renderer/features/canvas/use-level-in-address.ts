// The open composite is part of the address: opening one is a step in the browser's history, and a link opens it.
import { useEffect } from 'react';
import { useAddress, useStudio } from '../../store/use-studio.tsx';
import { useCanvas } from './canvas-context.tsx';

export function useLevelInAddress(): void {
  const { editor } = useCanvas();
  const { navigation } = useStudio();
  const { level } = useAddress();
  const place = JSON.stringify(level);
  useEffect(() => {
    editor.open(navigation.get().level);
  }, [editor, navigation, place]);
  useEffect(
    () =>
      editor.store.subscribe((state, before) => {
        if (state.path === before.path) return;
        const address = navigation.get();
        if (JSON.stringify(state.path) !== JSON.stringify(address.level))
          navigation.go({ ...address, level: state.path });
      }),
    [editor, navigation],
  );
}
