/// The name of an element or an attribute, with its namespace instead of a prefix.
package struct XMLName: Hashable, Sendable {
    package var space: String
    package var local: String

    package init(space: String, local: String) {
        self.space = space
        self.local = local
    }
}
