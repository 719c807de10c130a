/// The parts that a login may have in a queue. Each statement belongs to some of them.
package struct PostgresAccess: OptionSet, Sendable, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Brings jobs, steers them and looks.
    package static let submit = PostgresAccess(rawValue: 1)
    /// Does jobs and looks.
    package static let work = PostgresAccess(rawValue: 2)
    /// Looks.
    package static let read = PostgresAccess(rawValue: 4)
    package static let all: PostgresAccess = [.submit, .work, .read]

    /// The names that the queue's owner gives the parts by.
    package var names: [String] {
        [(.submit, "submit"), (.work, "work"), (.read, "read")].compactMap { part, name in
            contains(part) ? name : nil
        }
    }
}

extension PostgresRole {
    /// The part that a login needs for it.
    package var access: PostgresAccess {
        switch self {
        case .owner: [.submit, .work]
        case .worker: .work
        case .submitter: .submit
        case .onlooker: .read
        }
    }
}
