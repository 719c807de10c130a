/// The keys of a job file, version 1, but for those of its jobs: see ``JobFields``. A test holds them and `jobs/transfer-jobs.schema.json` together.
package enum FileKey: String, CaseIterable {
    case schema = "$schema"
    case version, name, collisions, defaults, limits, onFinish, jobs, watch

    package static let table = KeyTable(allCases)
    /// Of the first line of a `.jsonl` file.
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
