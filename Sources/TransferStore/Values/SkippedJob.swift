package import TransferJobs

package struct SkippedJob: Sendable {
    package let batch: Int64
    package let identity: String
    package let need: String
    package let cursor: Int64
    package let route: JobRoute
}
