import TransferCore
import TransferJobs
import TransferStore
import TransferUpload

/// Uploads that are given up for good: their servers are told, so that they free what they hold. Nobody waits for a job of
/// theirs.
struct UploadAborts {
    private struct Case {
        let upload: AbandonedUpload
        var dialogue: any UploadDialogue
        /// A server may not have noticed yet that nothing more is sent.
        var triesLeft: Int
    }

    enum Action {
        case send(UploadRequest, number: Int, JobSpec)
        /// From the start, after a moment (``again(_:)``).
        case wait(number: Int, Duration)
        /// The server holds nothing for the job any more.
        case forget(job: Int64)
    }

    private static let tries = 10
    private static let pause = Duration.milliseconds(300)

    private var cases: [Int: Case] = [:]
    private var lastNumber = 0
    /// Why servers couldn't be told, by job.
    private(set) var failures: [Int64: TransferError] = [:]

    /// Whether nothing is under way.
    var isEmpty: Bool { cases.isEmpty }

    func isUnderWay(_ job: Int64) -> Bool { cases.values.contains { $0.upload.id == job } }

    /// Begins to tell the server of an upload.
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
            // Nothing is there any more.
            case .fail(let error) where error.status == 404 || error.status == 410: return actions + end(number)
            case .fail(let error):
                fail(number, error)
                return actions
            case .save, .confirmed, .restart, .forget, .digest, .stop, .learned: break
            }
        }
        return actions
    }

    /// The pause is over.
    ///
    /// - Parameter make: A new dialogue about the upload; `nil` where there is nothing to tell.
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

    /// The server couldn't be told: that stays known, and whoever asks next time tries again.
    mutating func fail(_ number: Int, _ error: TransferError) {
        guard let id = cases.removeValue(forKey: number)?.upload.id else { return }
        failures[id] = error
    }

    /// There is no way to tell the server.
    mutating func cannotTell(_ job: Int64, _ error: TransferError) { failures[job] = error }
}
