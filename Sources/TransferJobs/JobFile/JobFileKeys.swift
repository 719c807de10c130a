/// The keys of a job file, version 1, without those of its jobs (``JobFields``). A test compares them with
/// `jobs/transfer-jobs.schema.json`.
package enum FileKey: String, CaseIterable {
    case schema = "$schema"
    case version, name, collisions, defaults, limits, onFinish, jobs, watch

    package static let table = KeyTable(allCases)
    /// The keys of the first line of a `.jsonl` file.
    package static let headerTable = KeyTable(allCases.filter { $0 != .jobs })
}

package enum LimitKey: String, CaseIterable {
    case concurrency, perHost, limitRate, requestRate

    package static let table = KeyTable(allCases)
}

package enum SecretKey: String, CaseIterable {
    case env, file, credential

    package static let table = KeyTable(allCases)
}
