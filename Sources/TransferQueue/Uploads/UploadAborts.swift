import TransferCore
import TransferJobs
import TransferStore
import TransferUpload

/// The notification of servers about uploads that were given up for good, so that they free their data. No job waits
/// for it.
struct UploadAborts {
    private struct Case {
        let upload: AbandonedUpload
        var dialogue: any UploadDialogue
        /// The number of tries left, because a server may not have noticed yet that nothing more is sent.
        var triesLeft: Int
    }

    enum Action {
        case send(UploadRequest, number: Int, JobSpec)
        /// Start over after a pause (``again(_:)``).
        case wait(number: Int, Duration)
        /// The server holds nothing for the job any longer. Where the process is lost before this is stored, the server
        /// is asked again for a cancelled job, and answers that the upload is gone.
        case forget(job: Int64)
    }

    private static let tries = 10
    private static let pause = Duration.milliseconds(300)

    private var cases: [Int: Case] = [:]
    private var lastNumber = 0
    /// The uploads whose credentials are being asked for, by job, with their number.
    private var asking: [Int64: Int] = [:]
    /// The reasons why servers could not be notified, by job.
    private(set) var failures: [Int64: TransferError] = [:]

    /// Whether no notification is under way.
    var isEmpty: Bool { cases.isEmpty && asking.isEmpty }

    /// Whether a server is being notified of a job's upload, or will be once the credentials are there.
    func isUnderWay(_ job: Int64) -> Bool {
        asking[job] != nil || cases.values.contains { $0.upload.id == job }
    }

    /// Notes that the credentials for a job's upload are being asked for.
    mutating func beginAsking(_ job: Int64) { asking[job, default: 0] += 1 }

    /// Notes that the source of credentials has answered.
    mutating func endAsking(_ job: Int64) {
        guard let count = asking[job] else { return }
        asking[job] = count > 1 ? count - 1 : nil
    }

    /// Starts to notify the server of an upload.
    mutating func begin(
        _ upload: AbandonedUpload, _ dialogue: any UploadDialogue, now: Int64
    ) -> [Action] {
        begin(upload, dialogue, triesLeft: Self.tries, now: now)
    }

    private mutating func begin(
        _ upload: AbandonedUpload, _ dialogue: any UploadDialogue, triesLeft: Int, now: Int64
    ) -> [Action] {
        lastNumber += 1
        cases[lastNumber] = Case(upload: upload, dialogue: dialogue, triesLeft: triesLeft)
        return step(lastNumber) { $0.abandon(now: now) }
    }

    /// Takes the result of a request.
    mutating func handle(_ event: UploadEvent, of number: Int, now: Int64) -> [Action] {
        step(number) { $0.handle(event, now: now) }
    }

    private mutating func step(_ number: Int, _ step: (inout any UploadDialogue) -> [UploadAction]) -> [Action] {
        guard var entry = cases[number] else { return [] }
        let wanted = step(&entry.dialogue)
        cases[number] = entry
        var actions: [Action] = []
        for action in wanted {
            switch action {
            case .send(let request): actions.append(.send(request, number: number, entry.upload.spec))
            case .fail(let error) where error.isTransient && entry.triesLeft > 0:
                return actions + [.wait(number: number, Self.pause)]
            case .finish: return actions + end(number)
            // The server no longer has the upload.
            case .fail(let error) where error.status == 404 || error.status == 410: return actions + end(number)
            case .fail(let error):
                fail(number, error)
                return actions
            case .save, .confirmed, .restart, .forget, .digest, .stop, .learned: break
            }
        }
        return actions
    }

    /// Starts over after the pause.
    ///
    /// - Parameter make: A function that creates a new dialogue about the upload; `nil` if the server holds nothing.
    mutating func again(
        _ number: Int, now: Int64,
        _ make: (AbandonedUpload) throws(TransferError) -> (any UploadDialogue)?
    ) -> [Action] {
        guard let old = cases.removeValue(forKey: number) else { return [] }
        do throws(TransferError) {
            guard let dialogue = try make(old.upload) else { return [] }
            return begin(old.upload, dialogue, triesLeft: old.triesLeft - 1, now: now)
        } catch {
            failures[old.upload.id] = error
            return []
        }
    }

    private mutating func end(_ number: Int) -> [Action] {
        guard let id = cases.removeValue(forKey: number)?.upload.id else { return [] }
        failures[id] = nil
        return [.forget(job: id)]
    }

    /// Notes that the server could not be notified. The upload stays recorded, and a later call tries again.
    mutating func fail(_ number: Int, _ error: TransferError) {
        guard let id = cases.removeValue(forKey: number)?.upload.id else { return }
        failures[id] = error
    }

    /// Notes that there is no way to notify the server.
    mutating func cannotTell(_ job: Int64, _ error: TransferError) { failures[job] = error }
}
