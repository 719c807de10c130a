import ArgumentParser
import FoundationEssentials
import Glibc
import Synchronization
import TransferCore
import TransferEventLoop
import TransferQueue

/// `--metrics-file`, and `metrics.file` of the configuration: the run's metrics in Prometheus' text form, for the node exporter's textfile collector. The file is
/// written beside and renamed, so that nobody reads half of one: every 15 seconds, and at the end.
final class MetricsFile: Sendable {
    private let path: String
    private let metrics = Mutex(MetricTable())
    private let loop: EventLoop
    private let isFailing = Mutex(false)
    private let warn: @Sendable (String) -> Void

    private static let interval = Duration.seconds(15)

    /// - Parameters:
    ///   - queue: What is measured.
    ///   - warn: Told why the file can't be written; once until it can be again.
    init(_ path: String, of queue: JobQueue, warn: @escaping @Sendable (String) -> Void) throws {
        self.path = Composition.absolute(path)
        self.warn = warn
        loop = try EventLoop(name: "metrics")
        queue.measure {
            WatchBatch.folder(of: $0)
        } _: { [weak self] changes in
            self?.metrics.withLock { $0.apply(changes) }
        }
        let ticks = Ticks.every(Self.interval, on: loop)
        write()
        Task { [weak self] in
            for await _ in ticks {
                guard let self else { return }
                write()
            }
        }
    }

    /// Writes the last word.
    func close() {
        write()
        loop.stop()
    }

    private func write() {
        let own = metrics.withLock { $0.families }
        let text = PrometheusText.text(own + ProcessMetrics.families)
        let failure = Self.replace(path, with: Array(text.utf8))
        let isNews = isFailing.withLock { isFailing in
            defer { isFailing = failure != nil }
            return !isFailing
        }
        if let failure, isNews { warn("can't write \(path): \(failure)") }
    }

    /// - Returns: Why the file couldn't be written.
    private static func replace(_ path: String, with bytes: [UInt8]) -> String? {
        let cut = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        // Its name doesn't end as those do that are collected.
        let beside = "\(path[..<cut]).\(path[cut...]).\(getpid())"
        let file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard file >= 0 else { return reason }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let failure = reason
                _ = Glibc.close(file)
                unlink(beside)
                return failure
            }
            written += count
        }
        guard Glibc.close(file) == 0, rename(beside, path) == 0 else {
            let failure = reason
            unlink(beside)
            return failure
        }
        return nil
    }

    private static var reason: String { String(cString: strerror(errno)).lowercasedFirst }
}

/// The path of such a file.
struct MetricsPath: OptionValue {
    let path: String

    static let form = "the path of a file whose name ends in .prom: the node exporter looks at no other files"

    init?(argument: String) {
        guard MetricsFileName.isCollected(argument) else { return nil }
        path = argument
    }
}
