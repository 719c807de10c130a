/// The effects that ends of jobs have on the files of watched folders.
struct WatchedEnds: Sendable {
    struct End: Sendable {
        /// Which of the ends that were recorded.
        let index: Int
        let job: Int64
        let batch: Int64
        let path: String
        let kind: Kind
    }

    enum Kind: Sendable {
        case confirmed(url: String, due: Int64?, hasDigest: Bool)
        case dropped(isChanged: Bool)
        /// A renamed file whose upload another one has taken the place of.
        case replaced(wasKept: Bool)
        case failed
    }

    var ends: [End] = []
    /// Jobs that were taken out without an end, as a newer version or another name of the file took their place.
    var superseded: [Int64: [Int64]] = [:]
    /// Jobs that haven't ended, by batch.
    var open: [Int64: Int] = [:]
    /// Grows from transaction to transaction: of two counts the later one holds.
    var stamp = 0
    /// What servers hold of jobs that were taken out; without their secrets, which some have.
    var abandoned: [(upload: AbandonedUpload, hasSecrets: Bool)] = []
}
