package import TransferJobs

package struct SkippedJob: Sendable {
    package let batch: Int64
    package let identity: String
    package let need: String
    package let cursor: Int64
    /// Whether a hook is called for the skipped job (`onFinish`).
    package var tellsHook = false
    package let route: JobRoute

    package init(
        batch: Int64, identity: String, need: String, cursor: Int64, tellsHook: Bool = false, route: JobRoute
    ) {
        self.batch = batch
        self.identity = identity
        self.need = need
        self.cursor = cursor
        self.tellsHook = tellsHook
        self.route = route
    }
}
