import FoundationEssentials
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferJobs

/// A job of a ``QueueModel``.
struct ModelJob {
    let id: Int64
    let batch: Int64
    let identity: String
    /// The count of the staging that named the job last.
    var generation: Int
    var state = JobState.queued
    var staged: StagedJob
    /// The origin that is currently tried.
    var origin: String
    var claim = Claim()
    var recheck = DestinationRule.Recheck.no
    var tries = Tries()
    var due: MonotonicTime?
    var resume: ResumeData?
    var upload: UploadRecord?
    /// The numbers of the jobs that this job needs.
    var needs: [Int64] = []
    var endNumber: Int64?
    var ended: Int64?
    /// The columns that no rule of the model reads.
    var others: [JobColumn: JobValue] = [:]
    /// The facts of the file, which are kept when the job becomes ready again.
    var receipt: (JobReceipt, FileStamp?)?

    /// The claim of the job by a process.
    struct Claim {
        var owner: Int64?
        var time: Int64?
        var isSending = false
        var wasInterrupted = false
    }

    /// The attempts that were made so far.
    struct Tries {
        var attempts = 0
        var askedWait = Duration.zero
        var mirror = 0
        var spentMirrors: UInt64 = 0
    }

    init(id: Int64, batch: Int64, generation: Int, staged: StagedJob) {
        self.id = id
        self.batch = batch
        self.generation = generation
        self.staged = staged
        identity = staged.row.identity
        origin = staged.row.origin
    }

    var hasSecrets: Bool { staged.secrets != nil }
    var fingerprint: Int64 { staged.row.fingerprint }
    var lane: Lane { Lane(batch: batch, origin: origin, network: staged.row.network) }

    /// Sets the columns of a change.
    mutating func set(
        _ columns: [JobChange.Assignment], endNumber: Int64?, given: (JobColumn) throws -> JobValue,
        holds: (JobChange.Condition) -> Bool
    ) rethrows {
        let before = others
        for assignment in columns {
            let column = assignment.column
            var value = assignment.value
            if case .kept(let condition) = value {
                if holds(condition) { continue }
                value = column.neutral
            }
            switch value {
            case .kept: continue
            case .null: set(column, .null)
            case .number(let number): set(column, .number(number))
            case .flag(let flag): set(column, .flag(flag))
            case .given: set(column, try given(column))
            case .givenOrKept:
                let value = try given(column)
                if value != .null { set(column, value) }
            case .givenOrKeptForSameFile:
                let value = try given(column)
                let isSame = [.size, .modified].allSatisfy { before[$0] == others[$0] }
                if value != .null || !isSame { set(column, value) }
            case .now: set(column, .number(WallClock.milliseconds))
            case .nowUnlessInterrupted:
                if !claim.wasInterrupted || claim.time == nil { set(column, .number(WallClock.milliseconds)) }
            case .nextEndNumber: set(column, JobValue(endNumber))
            case .keptIfItContinues: if upload?.canGoOn != true { upload = nil }
            }
        }
    }

    private mutating func set(_ column: JobColumn, _ value: JobValue) {
        switch column {
        case .staging: generation = Int(value.number ?? 0)
        case .owner: claim.owner = value.number
        case .claimed: claim.time = value.number
        case .isSending: claim.isSending = value == .flag(true)
        case .wasInterrupted: claim.wasInterrupted = value == .flag(true)
        case .recheck: recheck = value.number.flatMap { DestinationRule.Recheck(rawValue: Int($0)) } ?? .no
        case .attempts: tries.attempts = Int(value.number ?? 0)
        case .askedWait: tries.askedWait = .milliseconds(value.number ?? 0)
        case .mirror: tries.mirror = Int(value.number ?? 0)
        case .spentMirrors: tries.spentMirrors = UInt64(bitPattern: value.number ?? 0)
        case .notBefore: due = value.end
        case .origin: origin = value.text ?? origin
        case .resume:
            resume = value.text.flatMap { try? JSONDecoder().decode(ResumeData.self, from: Data($0.utf8)) }
        case .upload: upload = value.text.flatMap { UploadRecord(text: $0) }
        case .endNumber: endNumber = value.number
        case .ended: ended = value.number
        default: others[column] = value
        }
    }

    /// The error by which the job failed.
    var error: TransferError {
        TransferError(
            TransferError.Code(rawValue: others[.errorCode]?.text ?? ""), others[.errorMessage]?.text ?? "",
            cause: others[.status]?.number.map { .http(status: Int($0)) } ?? .none)
    }
}

extension JobValue {
    fileprivate var end: MonotonicTime? { if case .wait(let end) = self { end } else { nil } }
}
