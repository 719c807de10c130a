/// The effects that ends of jobs have on the files of watched folders.
package struct WatchedEnds: Sendable {
    package struct End: Sendable {
        /// The index of the end among those that were recorded.
        package let index: Int
        package let job: Int64
        package let batch: Int64
        package let path: String
        package let kind: Kind

        package init(index: Int, job: Int64, batch: Int64, path: String, kind: Kind) {
            self.index = index
            self.job = job
            self.batch = batch
            self.path = path
            self.kind = kind
        }
    }

    package enum Kind: Sendable {
        case confirmed(url: String, due: Int64?, hasDigest: Bool)
        case dropped(isChanged: Bool)
        /// The upload of a renamed file was replaced on the server by that of another file.
        case replaced(wasKept: Bool)
        case failed
    }

    package var ends: [End] = []
    /// Jobs that were taken out without an end, because a newer version or another name of the file replaced them.
    package var superseded: [Int64: [Int64]] = [:]
    /// The number of jobs that have not ended, by batch.
    package var open: [Int64: Int] = [:]
    /// A number that grows from transaction to transaction: of two counts the later one holds.
    package var stamp = 0
    /// Jobs that were taken out while servers hold parts of them, without the secrets that some of the jobs have.
    package var abandoned: [(upload: AbandonedUpload, hasSecrets: Bool)] = []

    package init() {}
}
