struct SkippedJob: Sendable {
    let batch: Int64
    let identity: String
    let need: String
    let cursor: Int64
}
