/// A batch apart from its jobs.
package struct BatchHeader: Sendable {
    package var name: String
    /// The real path of the job file, if there is one.
    package var source: String?
    /// The folder that relative paths start from.
    package var directory: String

    package init(name: String, source: String? = nil, directory: String) {
        self.name = name
        self.source = source
        self.directory = directory
    }
}
