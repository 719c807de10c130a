/// What a program says of one request when it makes it, beside what is to be sent.
struct RequestOptions {
    /// Called before the session's.
    var interceptor: (any RequestInterceptor)?
    /// Whether the first response handler starts it; `nil` leaves that to the session.
    var shouldAutomaticallyResume: Bool?

    init(_ interceptor: (any RequestInterceptor)? = nil, _ shouldAutomaticallyResume: Bool? = nil) {
        self.interceptor = interceptor
        self.shouldAutomaticallyResume = shouldAutomaticallyResume
    }
}
