package import TransferJobs

/// A batch apart from its jobs.
package struct BatchHeader: Sendable {
    package var name: String
    /// The real path of the job file, if there is one.
    package var source: String?
    /// The folder that relative paths start from.
    package var directory: String
    package var onFinish: Hook

    /// The hook that is called at the batch's end.
    package enum Hook: Sendable, Hashable {
        /// The hook that was set before stays.
        case kept
        case set(BatchHook?)
    }

    package init(name: String, source: String? = nil, directory: String, onFinish: Hook = .kept) {
        self.name = name
        self.source = source
        self.directory = directory
        self.onFinish = onFinish
    }
}
