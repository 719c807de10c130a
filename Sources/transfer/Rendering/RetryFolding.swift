import TransferCore
import TransferQueue

/// Folds the retries of a host into a line: a server in trouble fails a thousand jobs for one reason.
///
/// A retry is held until the batch's next progress (a second at most), so that the line can tell how many there were;
/// after a line the same host and reason are only counted for a minute.
struct RetryFolding: Sendable {
    private struct Key: Hashable {
        var batch: String
        var host: String
        var reason: String
    }

    private struct Fold {
        var first: Int64
        /// Counted, and not told yet.
        var count = 0
        var job = ""
        /// Whether all that is counted is of that job.
        var isOfOneJob = true
        var error: TransferError?
        var delay = Duration.zero
        /// The longest that it goes on being tried, where that is known.
        var patience: Duration?
        var pause: (reason: WaitReason, waiting: Int)?
        var mutedUntil: Int64 = 0
    }

    private struct Sleeper: Hashable {
        var batch: String
        var job: String
    }

    /// A line that stands for a whole run.
    static let longWindow: Int64 = 366 * 86_400_000
    /// The milliseconds in which the same isn't told again.
    var window: Int64 = 60_000
    /// As many hosts and reasons are told apart; a batch may have a million hosts.
    private static let mostKeys = 200
    /// As many jobs are known by their names while they wait.
    private static let mostSleepers = 100_000

    private var folds: [Key: Fold] = [:]
    /// Jobs that have been told to wait and haven't begun again: a job may be told so many times.
    private var sleepers: [Sleeper: Key] = [:]
    /// When the oldest untold retry has waited for long enough, even if no progress comes.
    private var due = Int64.max

    mutating func add(
        batch: String, job: String, host: String, delay: Duration, error: TransferError, patience: Duration? = nil,
        time: Int64
    ) {
        let key = slot(Key(batch: batch, host: host, reason: Self.reason(error)), time)
        if sleepers.count < Self.mostSleepers { sleepers[Sleeper(batch: batch, job: job)] = key }
        var fold = folds[key] ?? Fold(first: time)
        if fold.count == 0 { fold.first = time }
        if fold.count > 0, fold.job != job { fold.isOfOneJob = false }
        fold.count += 1
        (fold.job, fold.delay, fold.error, fold.patience) = (job, delay, error, patience)
        due = min(due, max(time + 2000, fold.mutedUntil))
        folds[key] = fold
    }

    var hasSleepers: Bool { !sleepers.isEmpty }

    /// The job waits no longer.
    mutating func woke(batch: String, job: String) { sleepers[Sleeper(batch: batch, job: job)] = nil }

    mutating func ended(batch: String) { sleepers = sleepers.filter { $0.key.batch != batch } }

    mutating func pause(batch: String, reason: WaitReason, waiting: Int, time: Int64) {
        guard case .host(let origin, let status, let message, _, _) = reason else { return }
        let key = slot(
            Key(batch: batch, host: WaitText.host(origin), reason: Self.reason(status, message)), time)
        guard time >= folds[key]?.mutedUntil ?? 0 else { return }
        folds[key, default: Fold(first: time)].pause = (reason, waiting)
    }

    var hasDue: Bool { due < .max }

    /// The clock of the times was set.
    mutating func shift(by step: Int64) {
        if hasDue { due += step }
        for key in folds.keys {
            folds[key]?.first += step
            if let muted = folds[key]?.mutedUntil, muted > 0 { folds[key]?.mutedUntil = muted + step }
        }
    }

    /// The lines to write now.
    ///
    /// - Parameter all: At a batch's progress and end; otherwise only what is overdue.
    mutating func flush(time: Int64, all: Bool, charset: Charset) -> [LogLine] {
        guard all || time >= due else { return [] }
        var lines: [LogLine] = []
        due = .max
        for key in folds.keys.sorted(by: { ($0.host, $0.reason) < ($1.host, $1.reason) }) {
            guard var fold = folds[key], fold.count > 0 || fold.pause != nil else { continue }
            guard time >= fold.mutedUntil else {
                due = min(due, fold.mutedUntil)
                continue
            }
            lines.append(LogLine(level: .warn, time: time, text: charset.visible(text(key, fold))))
            let pause = max(fold.error?.retryAfter?.inMilliseconds ?? 0, Self.remaining(fold.pause?.reason))
            fold = Fold(first: time, mutedUntil: time + max(window, pause))
            folds[key] = fold
        }
        return lines
    }

    /// The lines for the retries of a job that has ended now, where they were its alone: they have to stand before its end.
    mutating func settle(batch: String, job: String, time: Int64, charset: Charset) -> [LogLine] {
        guard hasDue else { return [] }
        let own = folds.filter {
            $0.key.batch == batch && $0.value.job == job && $0.value.count > 0 && $0.value.isOfOneJob
                && $0.value.pause == nil && time >= $0.value.mutedUntil
        }
        return own.sorted { ($0.key.host, $0.key.reason) < ($1.key.host, $1.key.reason) }.map { key, fold in
            folds[key] = Fold(first: time, mutedUntil: time + window)
            return LogLine(level: .warn, time: time, text: charset.visible(text(key, fold, isOver: true)))
        }
    }

    /// Forgets what is quiet when there is too much; what still doesn't fit shares one key.
    private mutating func slot(_ key: Key, _ time: Int64) -> Key {
        guard folds[key] == nil, folds.count >= Self.mostKeys else { return key }
        folds = folds.filter { $0.value.count > 0 || $0.value.mutedUntil > time }
        return folds.count < Self.mostKeys ? key : Key(batch: key.batch, host: "other hosts", reason: "")
    }

    /// A proxy's refusal is none of the host's.
    private static func reason(_ error: TransferError) -> String {
        reason(error.serverStatus, error.message)
    }

    private static func reason(_ status: Int?, _ message: String) -> String { status.map { "\($0)" } ?? message }

    private static func remaining(_ reason: WaitReason?) -> Int64 {
        guard case .host(_, _, _, let remaining, _)? = reason else { return 0 }
        return remaining.inMilliseconds
    }

    /// - Parameter isOver: Whether the job that all retries were of has ended.
    private func text(_ key: Key, _ fold: Fold, isOver: Bool = false) -> String {
        if let retryAfter = fold.error?.retryAfter, let error = fold.error {
            let asleep = sleepers.values.count { $0 == key }
            return Self.waits(.held(by: key.host, error, remaining: retryAfter), max(asleep, fold.pause?.waiting ?? 0))
        }
        if let pause = fold.pause { return Self.waits(pause.reason, pause.waiting) }
        let message = fold.error?.message ?? key.reason
        let limit = fold.patience.map { ", for \(WaitText.time($0)) at most" } ?? ""
        let again = WaitText.after(fold.delay) + limit
        if fold.count == 1 {
            return "\(fold.job): \(message), again \(again)" + (key.host.isEmpty ? "" : " (\(key.host))")
        }
        if isOver {
            let retries = NumberText.count(fold.count, "retry", plural: "retries")
            return "\(fold.job): \(message), \(retries)" + (key.host.isEmpty ? "" : " (\(key.host))")
        }
        return
            "\(key.host.isEmpty ? "" : key.host + ": ")\(message), \(NumberText.count(fold.count, "retry", plural: "retries")), the last \(again)"
    }

    private static func waits(_ reason: WaitReason, _ jobs: Int) -> String {
        let words = WaitText.log(reason)
        return jobs > 0 ? "\(words), \(NumberText.count(jobs, "job")) wait\(jobs == 1 ? "s" : "")" : words
    }
}
