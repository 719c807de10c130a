import HTTPTypes
import Hummingbird
import Synchronization
import TransferQueue

/// The requests with an Idempotency-Key. Each is executed once, and its response is repeated for a day. The key becomes
/// durable in the same transaction as the submitted jobs, so that after the end of a process both exist or neither.
final class IdempotentRequests: Sendable {
    private let answered: @Sendable (String) async throws -> AnsweredSubmission?
    private let underWay = Mutex<Set<String>>([])

    /// Creates the collection.
    ///
    /// - Parameter answered: A closure that returns the earlier response for a key, as long as it is kept.
    init(answered: @escaping @Sendable (String) async throws -> AnsweredSubmission?) { self.answered = answered }

    /// Executes a request, or repeats its response.
    ///
    /// - Parameters:
    ///   - key: The request's key; `nil` for a request that is always executed.
    ///   - first: A closure that executes the request and stores its key.
    ///   - again: A closure that repeats the response of `first`.
    /// - Throws: A 409 while a request with this key is active, a 422 where the key belongs to a different request.
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
            // Another service of this queue has answered the request meanwhile.
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
