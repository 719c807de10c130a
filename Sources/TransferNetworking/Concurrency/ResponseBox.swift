/// A response that will arrive, for any number of callers that await it.
final class ResponseBox<Response: Sendable>: Sendable {
    private let latch = Latch()
    // `nonisolated(unsafe)`: written before the latch opens, and read after that. A lock of a generic value costs as
    // much as a small request's serializer.
    private nonisolated(unsafe) var known: Response?

    /// Delivers the response. Called once.
    func fill(_ response: Response) {
        known = response
        latch.open()
    }

    var response: Response {
        get async {
            while true {
                await latch.wait()
                if let known { return known }
            }
        }
    }
}
