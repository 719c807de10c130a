import Glibc
import Synchronization
import TransferCore
import TransferEngine
import TransferJobs
import TransferStore

/// The files that jobs have brought, by batch: what one job of a batch has completed gives way to no other one, whatever
/// `ifExists` says. Two destinations may turn out to be one file when it's there: by a link to a folder, by a file system
/// that folds case, or by one name that two servers give.
final class BroughtFiles: Sendable {
    private struct State {
        /// Sixteen bytes a file.
        var files: [Int64: TakenNames] = [:]
        /// When the store's complete jobs of a batch were read.
        var revoked: [Int64: MonotonicTime] = [:]

        mutating func note(_ hash: UInt64, batch: Int64) {
            if files[batch] == nil, files.count >= BroughtFiles.mostBatches, let oldest = files.keys.min() {
                files[oldest] = nil
                revoked[oldest] = nil
            }
            _ = files[batch, default: TakenNames()].insert(hash)
        }
    }

    private let state = Mutex(State())
    /// Between the look at what has the name and the renaming no other job may get it.
    private let naming = Mutex(())

    /// A service runs without an end: of older batches nothing is known then.
    private static let mostBatches = 1000

    /// - Parameter stamp: How the file looks; its name and its mode may change.
    func note(_ stamp: FileStamp, batch: Int64) {
        let hash = Self.hash(stamp)
        state.withLock { $0.note(hash, batch: batch) }
    }

    /// Whether a job of the batch has brought what is there.
    func contains(_ stamp: FileStamp, batch: Int64) -> Bool {
        let hash = Self.hash(stamp)
        return state.withLock { $0.files[batch]?.contains(hash) ?? false }
    }

    /// The complete jobs of the batch are known, also those of other processes.
    func noteRevoked(_ batch: Int64, at now: MonotonicTime) { state.withLock { $0.revoked[batch] = now } }

    /// Whether ``contains(_:batch:)`` knows what other processes have brought.
    ///
    /// - Parameter isShared: Other processes work on the batch now, so that what was read of it is soon old.
    func isRevoked(_ batch: Int64, isShared: Bool, at now: MonotonicTime) -> Bool {
        guard let time = state.withLock({ $0.revoked[batch] }) else { return false }
        return !isShared || now - time < Self.freshness
    }

    /// The time for which the complete jobs of a shared batch are not read again: reading them takes long where they are many.
    private static let freshness = Duration.seconds(5)

    /// Notes the file of a job that was complete before, where it's still as it came. Blocks: for workers.
    func note(_ job: CompletedJob) {
        var status = stat()
        guard !job.isUpload, stat(job.path, &status) == 0, job.facts.isSameVersion(as: FileStamp(status)) else {
            return
        }
        note(FileStamp(status), batch: job.batch)
    }

    /// Looks at a name and gives it, one job after the other.
    func withNaming<Value>(_ body: () throws(TransferError) -> Value) throws(TransferError) -> Value {
        let result: Result<Value, TransferError> = naming.withLock { _ in
            do throws(TransferError) {
                return .success(try body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Why a job can't have the name.
    static func refusal(_ path: String) -> TransferError {
        TransferError(
            .fileExists,
            "\(path) was brought by another job of this batch, which isn't overwritten; give this job another \"to\"")
    }

    private static func hash(_ stamp: FileStamp) -> UInt64 {
        var hash = FNV1a()
        for number in [stamp.device ?? 0, stamp.inode ?? 0] { hash.add(number) }
        for number in [stamp.size, stamp.modified] { hash.add(UInt64(bitPattern: number)) }
        return hash.value
    }
}
