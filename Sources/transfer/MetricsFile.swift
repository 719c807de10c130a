import ArgumentParser
import FoundationEssentials
import Glibc
import Synchronization
import TransferCore
import TransferEventLoop
import TransferQueue

/// The file of `--metrics-file`, and of `metrics.file` in the configuration: the run's metrics in Prometheus' text
/// form.
///
/// The file is meant for the node exporter's textfile collector. It is written under another name and renamed, so that no
/// reader sees half of it: every 15 seconds, and at the end.
final class MetricsFile: Sendable {
    private let path: String
    private let metrics = Mutex(MetricTable())
    private let loop: EventLoop
    private let isFailing = Mutex(false)
    private let warn: @Sendable (String) -> Void

    private static let interval = Duration.seconds(15)

    /// Begins to write the file.
    ///
    /// - Parameters:
    ///   - queue: The measured queue.
    ///   - warn: A closure that gets the reason why the file cannot be written; once until it can be written again.
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

    /// Writes the final values.
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
        if let failure, isNews { warn("cannot write \(path): \(failure)") }
    }

    /// Replaces the file.
    ///
    /// - Returns: Why the file could not be written.
    private static func replace(_ path: String, with bytes: [UInt8]) -> String? {
        let cut = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        // The suffix of the name keeps the collector from reading the temporary file.
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
