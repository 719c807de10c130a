import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing

@testable import TransferNetworking

@Suite("The refresh of a credential", .timeLimit(.minutes(1)))
struct AuthenticationRefreshTests {
    private let session = makeSession(starts: false)

    private func adapt(_ interceptor: TokenInterceptor, _ answers: Calls<String>) throws {
        let request = try URLRequest(url: "http://127.0.0.1/", method: .get)
        interceptor.adapt(request, for: session) { result in
            switch result {
            case .success(let request): answers.add(request.headers["Authorization"] ?? "none")
            case .failure(let error): answers.add("\(error)")
            }
        }
    }

    @Test func theDocumentedDefaultsHold() {
        let window = TokenInterceptor.RefreshWindow()
        #expect(window.interval == 30)
        #expect(window.maximumAttempts == 5)
        let interceptor = AuthenticationInterceptor(authenticator: TokenAuthenticator { $2(.success($0)) })
        #expect(interceptor.credential == nil)
    }

    @Test func theDefaultWindowAllowsFiveRefreshes() async throws {
        let authenticator = TokenAuthenticator { $2(.success($0)) }
        let interceptor = AuthenticationInterceptor(
            authenticator: authenticator, credential: Token("a", requiresRefresh: true))
        let answers = Calls<String>()
        try adapt(interceptor, answers)
        #expect(await answers.first() == "excessiveRefresh")
        #expect(authenticator.refreshed.all.count == 5)
    }

    @Test func theRefreshGetsTheCredentialAndTheSessionOfWhoNeedsIt() async throws {
        let sessions = Calls<Session>()
        let authenticator = TokenAuthenticator { _, session, completion in
            sessions.add(session)
            completion(.success(Token("new")))
        }
        let interceptor = AuthenticationInterceptor(
            authenticator: authenticator, credential: Token("old", requiresRefresh: true))
        let answers = Calls<String>()
        try adapt(interceptor, answers)
        #expect(await answers.first() == "Bearer new")
        #expect(authenticator.refreshed.all == [Token("old", requiresRefresh: true)])
        #expect(sessions.all.count == 1)
        #expect(sessions.all.first === session)
    }

    @Test func waitingRequestsAreReleasedInOrder() async throws {
        let completions = Calls<TokenCompletion>()
        let interceptor = AuthenticationInterceptor(
            authenticator: TokenAuthenticator { _, _, completion in completions.add(completion) },
            credential: Token("old", requiresRefresh: true))
        let answers = Calls<Int>()
        let request = try URLRequest(url: "http://127.0.0.1/", method: .get)
        for index in 0..<100 { interceptor.adapt(request, for: session) { _ in answers.add(index) } }
        #expect(answers.all.isEmpty)
        let completion = try #require(await completions.first())
        completion(.success(Token("new")))
        _ = await answers.first { $0 == 99 }
        #expect(answers.all == Array(0..<100))
    }

    @Test func aCompletionThatIsCalledAgainDoesNotCount() async throws {
        let completions = Calls<TokenCompletion>()
        let authenticator = TokenAuthenticator { _, _, completion in completions.add(completion) }
        let interceptor = AuthenticationInterceptor(
            authenticator: authenticator, credential: Token("a", requiresRefresh: true))
        let answers = Calls<String>()
        try adapt(interceptor, answers)
        let first = try #require(await completions.first())
        first(.success(Token("b", requiresRefresh: true)))
        // The new credential is due as well: another refresh begins, which the completion of the first must not end.
        let second = try #require(await completions.first())
        first(.failure(TestFailure()))
        first(.success(Token("c")))
        #expect(interceptor.credential == Token("b", requiresRefresh: true))
        #expect(answers.all.isEmpty)
        second(.success(Token("d")))
        #expect(await answers.first() == "Bearer d")
        #expect(authenticator.refreshed.all.map(\.value) == ["a", "b"])
    }

    @Test func aCompletionThatIsNeverCalledFailsWhatWaits() async throws {
        let completions = Mutex<[TokenCompletion]>([])
        let held = Calls<Void>()
        let authenticator = TokenAuthenticator { _, _, completion in
            completions.withLock { $0.append(completion) }
            held.add(())
        }
        let interceptor = AuthenticationInterceptor(
            authenticator: authenticator, credential: Token("a", requiresRefresh: true))
        let answers = Calls<String>()
        try adapt(interceptor, answers)
        try adapt(interceptor, answers)
        await held.first()
        #expect(answers.all.isEmpty)
        completions.withLock { $0 = [] }
        for _ in 0..<2 { #expect(await answers.first() == "AbandonedRefreshError()") }
        // The next request that needs a credential starts another refresh.
        try adapt(interceptor, answers)
        await held.first()
        completions.withLock { $0 }.first?(.success(Token("b")))
        #expect(await answers.first() == "Bearer b")
    }

    @Test func waitingRequestsEndAlsoAfterTheInterceptorIsFreed() async throws {
        let completions = Calls<TokenCompletion>()
        let answers = Calls<String>()
        weak var released: TokenInterceptor?
        do {
            let interceptor = AuthenticationInterceptor(
                authenticator: TokenAuthenticator { _, _, completion in completions.add(completion) },
                credential: Token("old", requiresRefresh: true))
            released = interceptor
            try adapt(interceptor, answers)
        }
        let completion = try #require(await completions.first())
        #expect(released != nil)
        completion(.success(Token("new")))
        #expect(await answers.first() == "Bearer new")
    }

    @Test func anInterceptorIsReleasedAfterItsRefreshes() async throws {
        let answers = Calls<String>()
        let freed = Calls<Void>()
        final class Watched: Sendable {
            let freed: Calls<Void>
            init(_ freed: Calls<Void>) { self.freed = freed }
            deinit { freed.add(()) }
        }
        do {
            let watched = Watched(freed)
            let interceptor = AuthenticationInterceptor(
                authenticator: TokenAuthenticator { _, _, completion in
                    withExtendedLifetime(watched) { completion(.success(Token("new"))) }
                }, credential: Token("old", requiresRefresh: true))
            try adapt(interceptor, answers)
            #expect(await answers.first() == "Bearer new")
        }
        await freed.first()
    }

    @Test func aCredentialThatIsSetDuringARefreshStays() async throws {
        let completions = Calls<TokenCompletion>()
        let interceptor = AuthenticationInterceptor(
            authenticator: TokenAuthenticator { _, _, completion in completions.add(completion) },
            credential: Token("old", requiresRefresh: true))
        let answers = Calls<String>()
        try adapt(interceptor, answers)
        let completion = try #require(await completions.first())
        interceptor.credential = Token("set")
        try adapt(interceptor, answers)
        #expect(answers.all.isEmpty)
        completion(.success(Token("refreshed")))
        for _ in 0..<2 { #expect(await answers.first() == "Bearer set") }
        #expect(interceptor.credential == Token("set"))
    }

    @Test func loggingOutDuringARefreshIsNotUndone() async throws {
        let completions = Calls<TokenCompletion>()
        let interceptor = AuthenticationInterceptor(
            authenticator: TokenAuthenticator { _, _, completion in completions.add(completion) },
            credential: Token("old", requiresRefresh: true))
        let answers = Calls<String>()
        try adapt(interceptor, answers)
        let completion = try #require(await completions.first())
        interceptor.credential = nil
        completion(.success(Token("refreshed")))
        #expect(await answers.first() == "missingCredential")
        #expect(interceptor.credential == nil)
    }

    /// An authenticator that reads and changes its interceptor in each call: a lock held during a call would deadlock.
    private final class Intrusive: Authenticator {
        struct Credential: AuthenticationCredential {
            let value: String
            let look: @Sendable () -> Bool
            var requiresRefresh: Bool { look() }
        }

        let interceptor = Mutex<AuthenticationInterceptor<Intrusive>?>(nil)

        private func intrude() {
            guard let interceptor = interceptor.withLock({ $0 }) else { return }
            interceptor.credential = interceptor.credential
        }

        func apply(_ credential: Credential, to urlRequest: inout URLRequest) {
            intrude()
            urlRequest.headers.update(.authorization(bearerToken: credential.value))
        }

        func refresh(
            _ credential: Credential, for session: Session,
            completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
        ) {
            let new = Credential(value: "new") { false }
            interceptor.withLock { $0 }?.credential = new
            completion(.success(new))
        }

        func didRequest(
            _ urlRequest: URLRequest, with response: HTTPURLResponse, failDueToAuthenticationError error: any Error
        ) -> Bool { false }

        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Credential) -> Bool { true }
    }

    @Test func theAuthenticatorMayUseTheInterceptorWhereverItIsCalled() async throws {
        let authenticator = Intrusive()
        let interceptor = AuthenticationInterceptor(authenticator: authenticator)
        authenticator.interceptor.withLock { $0 = interceptor }
        let looks = Mutex(0)
        interceptor.credential = Intrusive.Credential(value: "old") {
            // The first check replaces the credential under examination, so a second check must follow.
            let isFirst = looks.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { interceptor.credential = interceptor.credential }
            return true
        }
        let answers = Calls<String>()
        let request = try URLRequest(url: "http://127.0.0.1/", method: .get)
        interceptor.adapt(request, for: session) { result in
            answers.add((try? result.get().headers["Authorization"]) ?? "failed")
        }
        #expect(await answers.first() == "Bearer new")
        #expect(looks.withLock { $0 } == 2)
        authenticator.interceptor.withLock { $0 = nil }
    }
}
