import Glibc
import TransferJobs

/// The counts of what happened in all runs, in memory that the runs' processes share.
///
/// A row that stays zero names a way of the code that no seed has taken.
enum Coverage {
    enum Row: Int, CaseIterable {
        case good, noConnection, cutRequest, lostAnswer, silence, cutAnswer, refused, hidden
        case started, retrying, restarted, finished, kept, failed, cancelled, waiting
        case paused, resumed, asksCancel, asksRetry
        case killed, versionChanged, uploadsLost
        case takenOver, lostCommit, partitioned, stopped, leaseLost, begunAnew
    }

    // The pointer is constant, and each of the processes that share its memory has one thread.
    private nonisolated(unsafe) static let counts: UnsafeMutablePointer<Int64> = {
        let size = Row.allCases.count * MemoryLayout<Int64>.stride
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { preconditionFailure("no memory for the counts: \(errno)") }
        return memory.bindMemory(to: Int64.self, capacity: Row.allCases.count)
    }()

    /// Makes the memory, before the first process that shares it.
    static func share() { _ = counts }

    static func add(_ row: Row) { counts[row.rawValue] += 1 }

    static func count(_ fate: NetworkModel.Fate) {
        switch fate {
        case .good: add(.good)
        case .noConnection: add(.noConnection)
        case .cutRequest: add(.cutRequest)
        case .lostAnswer: add(.lostAnswer)
        case .silence: add(.silence)
        case .cutAnswer: add(.cutAnswer)
        case .refused: add(.refused)
        case .hidden: add(.hidden)
        }
    }

    static func count(_ event: QueueEvent.Kind) {
        switch event {
        case .started: add(.started)
        case .retrying: add(.retrying)
        case .restarted: add(.restarted)
        case .finished: add(.finished)
        case .kept: add(.kept)
        case .failed: add(.failed)
        case .cancelled: add(.cancelled)
        case .batchWaiting, .waiting: add(.waiting)
        default: break
        }
    }

    static func count(_ verb: QueueVerb) {
        switch verb {
        case .pause: add(.paused)
        case .resume: add(.resumed)
        case .cancel: add(.asksCancel)
        case .retry, .retryFailed: add(.asksRetry)
        }
    }

    /// The rows as lines of a table.
    static var table: [String] { Row.allCases.map { "\(counts[$0.rawValue])\t\($0)" } }

    static var untaken: [Row] { Row.allCases.filter { counts[$0.rawValue] == 0 } }
}
