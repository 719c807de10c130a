public import CoreMetrics
import TransferCore
public import TransferQueue

/// Counts what a queue does, by swift-metrics.
public final class QueueMetrics: Sendable {
    private let factory: any MetricsFactory

    /// - Parameter factory: Where the metrics go; the one that the program bootstrapped by default.
    public init(factory: (any MetricsFactory)? = nil) {
        self.factory = factory ?? MetricsSystem.factory
    }

    /// Counts one event.
    public func record(_ event: QueueEvent) {
        switch event.kind {
        case .failed(let failure):
            let code = failure.error.code.rawValue
            Counter(label: "transfer_failures_total", dimensions: [("code", code)], factory: factory).increment()
        default: break
        }
    }
}
