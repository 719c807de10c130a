/// The operations that a file server allows an account in a folder, by its answers so far; `nil` is unknown.
///
/// An upload takes the first method that the account allows:
///
/// | Refused | Tried next |
/// |---|---|
/// | to store under a hidden name | the file is stored under its own name |
/// | to rename | the file is stored under its own name |
/// | to rename over an existing file | that one is deleted, and the file renamed |
/// | to delete the existing file | the file is stored under its own name, over it |
/// | to delete a useless part | the part is overwritten from its start |
/// | to report what exists | the renaming shows whether the file is whole |
///
/// Missing rights to rename, or to delete where the name is taken, are detected before a hidden file is made: it could
/// not be removed again. They are detected by commands for an unused name.
public struct AccountAbilities: Sendable, Hashable {
    /// Whether the account may store a file under a hidden name.
    public var mayHide: Bool?
    /// Whether the account may rename files.
    public var mayRename: Bool?
    /// Whether the account may delete files.
    public var mayDelete: Bool?

    /// Creates abilities.
    public init(mayHide: Bool? = nil, mayRename: Bool? = nil, mayDelete: Bool? = nil) {
        self.mayHide = mayHide
        self.mayRename = mayRename
        self.mayDelete = mayDelete
    }

    /// The abilities of an account that is assumed to have all of them until it is refused one.
    public static let all = AccountAbilities(mayHide: true, mayRename: true, mayDelete: true)

    /// Whether a new file is uploaded under a hidden name; `false` where it could not get its name.
    var growsBeside: Bool { mayHide != false && mayRename != false }
}
