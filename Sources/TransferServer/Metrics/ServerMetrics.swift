import Synchronization
import TransferQueue

/// The metrics of the service and of its queue, in the text format of Prometheus.
final class ServerMetrics: Sendable {
    private struct State {
        var queue = MetricTable()
        var requests: [[String]: Int] = [:]
        var durations: [[String]: Histogram] = [:]
    }

    private let state = Mutex(State())
    private let feed: EventFeed

    init(_ feed: EventFeed) { self.feed = feed }

    /// Begins to observe the queue.
    func listen(to queue: JobQueue) {
        queue.measure(folder: { $0.hasPrefix("watch:/") ? String($0.dropFirst("watch:".count)) : nil }) { changes in
            self.state.withLock { $0.queue.apply(changes) }
        }
    }

    /// Counts a request.
    ///
    /// - Parameters:
    ///   - route: The declared route, with placeholders for parameters; `nil` for an unknown path.
    ///   - seconds: The time to the response's head.
    func count(route: String?, method: String, code: Int, seconds: Double) {
        let route = route ?? "none"
        let method = Self.methods.contains(method) ? method : "other"
        state.withLock { state in
            state.requests[[route, method, String(code)], default: 0] += 1
            state.durations[[route], default: Histogram(bounds: Self.bounds)].observe(seconds)
        }
    }

    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    private static let bounds = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]

    var text: String {
        let state = state.withLock { $0 }
        let own = [
            MetricFamily(
                .counter, "transfer_api_requests_total", "Requests that were answered.", ["route", "method", "code"],
                state.requests.mapValues { .number(Double($0)) }),
            MetricFamily(
                .histogram, "transfer_api_request_duration_seconds", "From a request to its answer's head.", ["route"],
                state.durations.mapValues { .histogram($0) }),
            MetricFamily(
                .gauge, "transfer_event_streams", "Clients that follow the events.", [],
                [[]: .number(Double(feed.streams))]),
        ]
        return PrometheusText.text(state.queue.families + own + ProcessMetrics.families)
    }
}
