import CTransferLinux
import Glibc
import Synchronization
import TransferCore
package import TransferEngine

/// A resolver that looks up the names of a database's servers on threads of its own. libpq uses the caller's thread,
/// where nothing ends the lookup before the name servers do (getaddrinfo(3)).
package final class PostgresNames: Sendable {
    private let resolver: HostResolver

    /// - Parameter lookUp: The lookup of a name, which blocks.
    package init(lookUp: @escaping @Sendable (String) -> HostResolver.Answer = HostResolver.system) {
        // Each connection asks anew, because after a fail-over a name may belong to another server.
        resolver = HostResolver(threads: 4, lifetime: .zero, lookUp: lookUp)
    }

    /// - Returns: At least one address, in the order in which they are tried.
    /// - Throws: `TransferError` where the name has none, where no name server answers in time, and when the wait was
    ///   abandoned.
    func addresses(
        of name: String, until limit: MonotonicTime, unless abandonment: PostgresCancellation
    ) throws -> [String] {
        let question = Question()
        resolver.find(name) { question.answer($0) }
        guard try abandonment.wait(for: question.descriptor, Int16(POLLIN), until: limit), let answer = question.answer
        else {
            throw TransferError(
                .cannotResolveHost, "cannot find the host \(name): no name server answered in time", isTransient: true)
        }
        return try answer.get()
    }

    /// One question, whose descriptor is readable as soon as it is answered.
    private final class Question: Sendable {
        let descriptor = transfer_eventfd()
        private let state = Mutex<HostResolver.Answer?>(nil)

        deinit { close(descriptor) }

        var answer: HostResolver.Answer? { state.withLock { $0 } }

        func answer(_ answer: HostResolver.Answer) {
            state.withLock { $0 = answer }
            var one: UInt64 = 1
            _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
        }
    }
}
