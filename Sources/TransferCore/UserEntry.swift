import Glibc

/// An entry of the system's list of users (getpwuid_r(3)).
package struct UserEntry: Sendable, Hashable {
    /// The user's name.
    package var name: String
    /// The home folder; `nil` where the list has none.
    package var home: String?

    /// Looks a user up; `nil` for a number without an entry, as in a container.
    package init?(_ number: UInt32) {
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(number, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name
        else {
            return nil
        }
        self.name = String(cString: name)
        home = entry.pw_dir.map { String(cString: $0) }
    }

    /// Returns "the user ann", or "the user" with the number where it has no name.
    package static func words(_ number: UInt32) -> String { "the user \(UserEntry(number)?.name ?? "\(number)")" }
}
