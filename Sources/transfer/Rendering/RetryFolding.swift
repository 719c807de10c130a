import TransferCore
import TransferQueue

/// A summary of the retries of a host in one line: a faulty server fails a thousand jobs for one reason.
///
/// A retry is held until the batch's next progress (a second at most), so that the line can contain the number of
/// retries. After a line the same host and reason are only counted for a minute.
struct RetryFolding: Sendable {
    private struct Key: Hashable {
        var batch: String
        var host: String
        var reason: String
    }

    private struct Fold {
        var first: Int64
        /// The number of retries that are not reported yet.
        var count = 0
        var job = ""
        /// Whether all counted retries are of that job.
        var isOfOneJob = true
        var error: TransferError?
        var delay = Duration.zero
        /// The longest time of the retries, where it is known.
        var patience: Duration?
        var pause: (reason: WaitReason, waiting: Int)?
        var mutedUntil: Int64 = 0
    }

    private struct Sleeper: Hashable {
        var batch: String
        var job: String
    }

    /// The window in milliseconds for one line in a whole run.
    static let longWindow: Int64 = 366 * 86_400_000
    /// The milliseconds in which the same host and reason are not reported again.
    var window: Int64 = 60_000
    /// The most hosts and reasons that are counted separately; a batch may have a million hosts.
    private static let mostKeys = 200
    /// The most waiting jobs that are known by their names.
    private static let mostSleepers = 100_000

    private var folds: [Key: Fold] = [:]
    /// The jobs that wait for a retry and have not begun again; a job may wait many times.
    private var sleepers: [Sleeper: Key] = [:]
    /// The time at which the oldest unreported retry has waited long enough, even without progress.
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

    /// Notes that the job waits no longer.
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

    /// Shifts all times after the clock was set.
    mutating func shift(by step: Int64) {
        if hasDue { due += step }
        for key in folds.keys {
            folds[key]?.first += step
            if let muted = folds[key]?.mutedUntil, muted > 0 { folds[key]?.mutedUntil = muted + step }
        }
    }

    /// Returns the lines to write now.
    ///
    /// - Parameter all: Whether all retries are due, as at a batch's progress and end; otherwise only overdue ones.
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
            lines.append(
                LogLine(
                    level: .warn, time: time, text: charset.visible(text(key, fold)),
                    needsPerson: fold.error?.code == .diskFull))
            let pause = max(fold.error?.retryAfter?.inMilliseconds ?? 0, Self.remaining(fold.pause?.reason))
            fold = Fold(first: time, mutedUntil: time + max(window, pause))
            folds[key] = fold
        }
        return lines
    }

    /// Returns the lines for the retries of a job that has just ended, if it was their only job: they must precede its
    /// end.
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

    /// Returns a key to count by. Quiet keys are forgotten when there are too many; what still does not fit shares one
    /// key.
    private mutating func slot(_ key: Key, _ time: Int64) -> Key {
        guard folds[key] == nil, folds.count >= Self.mostKeys else { return key }
        folds = folds.filter { $0.value.count > 0 || $0.value.mutedUntil > time }
        return folds.count < Self.mostKeys ? key : Key(batch: key.batch, host: "other hosts", reason: "")
    }

    /// Returns the reason of an error. A proxy's refusal does not count as the host's.
    private static func reason(_ error: TransferError) -> String {
        reason(error.serverStatus, error.message)
    }

    private static func reason(_ status: Int?, _ message: String) -> String { status.map { "\($0)" } ?? message }

    private static func remaining(_ reason: WaitReason?) -> Int64 {
        guard case .host(_, _, _, let remaining, _)? = reason else { return 0 }
        return remaining.inMilliseconds
    }

    /// Returns the text of a line.
    ///
    /// - Parameter isOver: Whether the job of all retries has ended.
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
