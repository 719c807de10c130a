import Synchronization

/// The rates of the last hour, one entry a second, in a ring buffer.
final class RateHistory: Sendable {
    struct Point: Sendable {
        /// The time in milliseconds since 1970.
        let time: Int64
        let download: Int64
        let upload: Int64
    }

    static let seconds = 3600
    private let points = Mutex<(ring: [Point], next: Int)>(([], 0))

    func add(_ point: Point) {
        points.withLock { state in
            if state.ring.count < Self.seconds {
                state.ring.append(point)
            } else {
                state.ring[state.next] = point
            }
            state.next = (state.next + 1) % Self.seconds
        }
    }

    /// Returns the rates of a recent period.
    ///
    /// - Parameters:
    ///   - window: The length of the period in seconds.
    ///   - step: The number of seconds whose mean each point is.
    func points(window: Int, step: Int) -> [Point] {
        let all = points.withLock { state in
            state.ring.count < Self.seconds ? state.ring : Array(state.ring[state.next...] + state.ring[..<state.next])
        }
        let shown = Array(all.suffix(window))
        return stride(from: 0, to: shown.count, by: step).map { start in
            let part = shown[start..<min(start + step, shown.count)]
            let count = Int64(part.count)
            return Point(
                time: part[start].time, download: part.reduce(0) { $0 + $1.download } / count,
                upload: part.reduce(0) { $0 + $1.upload } / count)
        }
    }
}
