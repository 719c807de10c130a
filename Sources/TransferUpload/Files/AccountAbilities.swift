/// The things that a file server lets an account do in a folder, as far as its answers have shown; `nil` where nothing has.
///
/// An upload reaches its aim by the first way that the account has:
///
/// | Refused | Tried next |
/// |---|---|
/// | to store under a hidden name | the file is stored under its own name |
/// | to rename | the file is stored under its own name |
/// | to rename over a file that is there | that one is deleted, and the file renamed |
/// | to delete the file that is there | the file is stored under its own name, over it |
/// | to delete a part that is of no use | the part is written over from its start |
/// | to tell what is there | the renaming shows whether the file is whole |
///
/// An account that may not rename, or that may not delete where the name is taken, is known before a hidden file is made:
/// it could not be removed again. The question is a command for a name that nothing has.
public struct AccountAbilities: Sendable, Hashable {
    public var mayHide: Bool?
    public var mayRename: Bool?
    public var mayDelete: Bool?

    public init(mayHide: Bool? = nil, mayRename: Bool? = nil, mayDelete: Bool? = nil) {
        self.mayHide = mayHide
        self.mayRename = mayRename
        self.mayDelete = mayDelete
    }

    /// The abilities of an account that is taken to have all of them until it is refused something.
    public static let all = AccountAbilities(mayHide: true, mayRename: true, mayDelete: true)

    /// Whether a hidden file is made where no file has the name; `false` where it could not get its name.
    var growsBeside: Bool { mayHide != false && mayRename != false }
}
