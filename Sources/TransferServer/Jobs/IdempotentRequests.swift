import HTTPTypes
import Hummingbird
import Synchronization
import TransferQueue

/// Requests that have an Idempotency-Key: each is done once, and its answer is given again for a day. The key is durable
/// with the jobs that were taken, in one transaction, so that the end of a process leaves both or none of them.
final class IdempotentRequests: Sendable {
    private let answered: @Sendable (String) async throws -> AnsweredSubmission?
    private let underWay = Mutex<Set<String>>([])

    /// - Parameter answered: The answer to the submission of a key, for as long as it's remembered.
    init(answered: @escaping @Sendable (String) async throws -> AnsweredSubmission?) { self.answered = answered }

    /// - Parameters:
    ///   - key: `nil` for a request that is done each time.
    ///   - first: Does what is asked, and remembers it by the key.
    ///   - again: Answers as `first` did.
    /// - Throws: A 409 while a request of that key is under way, a 422 where the key stands for another request.
    func answer(
        _ key: SubmissionKey?, first: (SubmissionKey?) async throws -> Response,
        again: (AnsweredSubmission) async throws -> Response
    ) async throws -> Response {
        guard let key else { return try await first(nil) }
        guard underWay.withLock({ $0.insert(key.name).inserted }) else {
            var problem = Problem.conflict("keyInUse", "a request of this Idempotency-Key is under way")
            problem.headers[.retryAfter] = "1"
            throw problem
        }
        defer { _ = underWay.withLock { $0.remove(key.name) } }
        if let known = try await known(key) { return try await again(known) }
        do {
            return try await first(key)
        } catch is SubmissionKeyTaken {
            // Another service of this queue has answered it meanwhile.
            guard let known = try await known(key) else { throw Problem.notFound("the answer was forgotten meanwhile") }
            return try await again(known)
        }
    }

    private func known(_ key: SubmissionKey) async throws -> AnsweredSubmission? {
        guard let known = try await answered(key.name) else { return nil }
        guard known.key == key else {
            throw Problem(
                .unprocessableContent, "keyReused", "this Idempotency-Key stands for another request",
                hint: "each request has a key of its own, such as a UUID")
        }
        return known
    }
}
