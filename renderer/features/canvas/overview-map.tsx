// Hot path: the small map of the whole level, drawn on one canvas at most once a frame. The library's own is one element
// and one listener per node. A press or drag on it moves the view, the wheel zooms.
import { Panel, useReactFlow, useStoreApi, type ReactFlowState } from '@xyflow/react';
import { useEffect, useRef, type PointerEvent, type RefObject } from 'react';

const width = 150;
const height = 100;
const padding = 6;
const density = Math.min(2, window.devicePixelRatio || 1);

interface Colours {
  readonly surface: string;
  readonly node: string;
  readonly selected: string;
  readonly view: string;
}

interface Frame {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

export function OverviewMap() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<Frame>({ scale: 1, x: 0, y: 0 });
  const { setCenter, getZoom, zoomTo } = useReactFlow();
  useDrawing(canvas, frame);
  const goTo = (event: PointerEvent<HTMLCanvasElement>): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const { scale, x, y } = frame.current;
    void setCenter((event.clientX - box.left - x) / scale, (event.clientY - box.top - y) / scale, {
      zoom: getZoom(),
    });
  };
  return (
    <Panel position="bottom-right" className="overview-map">
      <canvas
        ref={canvas}
        width={width * density}
        height={height * density}
        // A drawing cannot be an image element.
        // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role
        role="img"
        aria-label="Overview of the graph"
        title="Press or drag to move the view"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          goTo(event);
        }}
        onPointerMove={(event) => {
          if (event.currentTarget.hasPointerCapture(event.pointerId)) goTo(event);
        }}
        onWheel={(event) => void zoomTo(getZoom() * (event.deltaY < 0 ? 1.15 : 1 / 1.15))}
      />
    </Panel>
  );
}

function useDrawing(canvas: RefObject<HTMLCanvasElement | null>, frame: RefObject<Frame>): void {
  const store = useStoreApi();
  useEffect(() => {
    const target = canvas.current;
    const context = target?.getContext('2d');
    if (!target || !context) return undefined;
    let colours = coloursOf(target);
    let request = 0;
    const soon = (): void => {
      request ||= requestAnimationFrame(() => {
        request = 0;
        context.setTransform(density, 0, 0, density, 0, 0);
        frame.current = draw(context, store.getState(), colours);
      });
    };
    const onTheme = new MutationObserver(() => {
      colours = coloursOf(target);
      soon();
    });
    onTheme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    const end = store.subscribe((state, before) => {
      if (
        state.transform !== before.transform ||
        state.nodes !== before.nodes ||
        state.width !== before.width
      )
        soon();
    });
    soon();
    return () => {
      end();
      onTheme.disconnect();
      cancelAnimationFrame(request);
    };
  }, [canvas, frame, store]);
}

function coloursOf(target: Element): Colours {
  const style = getComputedStyle(target);
  return {
    surface: style.getPropertyValue('--surface'),
    node: style.getPropertyValue('--line-strong'),
    selected: style.getPropertyValue('--accent'),
    view: style.getPropertyValue('--text-muted'),
  };
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function draw(context: CanvasRenderingContext2D, state: ReactFlowState, colours: Colours): Frame {
  const { nodeLookup, transform } = state;
  const boxes = [...nodeLookup.values()].map(({ internals, measured, initialHeight, selected }) => ({
    ...internals.positionAbsolute,
    width: measured.width ?? 212,
    height: measured.height ?? initialHeight ?? 80,
    selected: selected ?? false,
  }));
  const [shiftX, shiftY, zoom] = transform;
  const view: Box = {
    x: -shiftX / zoom,
    y: -shiftY / zoom,
    width: state.width / zoom,
    height: state.height / zoom,
  };
  const frame = frameOf([...boxes, view]);
  context.fillStyle = colours.surface;
  context.fillRect(0, 0, width, height);
  for (const box of boxes) {
    context.fillStyle = box.selected ? colours.selected : colours.node;
    context.fillRect(
      frame.x + box.x * frame.scale,
      frame.y + box.y * frame.scale,
      Math.max(1.5, box.width * frame.scale),
      Math.max(1, box.height * frame.scale),
    );
  }
  context.strokeStyle = colours.view;
  context.lineWidth = 1;
  context.strokeRect(
    frame.x + view.x * frame.scale + 0.5,
    frame.y + view.y * frame.scale + 0.5,
    view.width * frame.scale - 1,
    view.height * frame.scale - 1,
  );
  return frame;
}

/** Everything in the middle, with a margin. */
function frameOf(boxes: readonly Box[]): Frame {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const box of boxes) {
    left = Math.min(left, box.x);
    top = Math.min(top, box.y);
    right = Math.max(right, box.x + box.width);
    bottom = Math.max(bottom, box.y + box.height);
  }
  const [wide, high] = [Math.max(1, right - left), Math.max(1, bottom - top)];
  const scale = Math.min((width - 2 * padding) / wide, (height - 2 * padding) / high);
  return {
    scale,
    x: (width - wide * scale) / 2 - left * scale,
    y: (height - high * scale) / 2 - top * scale,
  };
}
