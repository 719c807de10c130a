/// The options of a request's creation, apart from its content.
struct RequestOptions {
    /// The request's own interceptor, called after the session's.
    var interceptor: (any RequestInterceptor)?
    /// Whether the first response handler starts the request; `nil` means the session's setting.
    var shouldAutomaticallyResume: Bool?

    init(_ interceptor: (any RequestInterceptor)? = nil, _ shouldAutomaticallyResume: Bool? = nil) {
        self.interceptor = interceptor
        self.shouldAutomaticallyResume = shouldAutomaticallyResume
    }
}
