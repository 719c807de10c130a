/// One value of a form under construction. The type is a class, as containers stay open while others are written.
///
/// A key may be written in several ways: as a value, an array, a nested container, or by a superclass's encoder. All of
/// them are kept, as a form can repeat a key. Only a second value in the same way replaces the first.
final class FormNode {
    /// The named nodes, in the order in which they were added.
    struct Members {
        private(set) var names: [String] = []
        private(set) var nodes: [FormNode] = []
        private var indices: [String: Int] = [:]

        /// Returns the node of that name, which is made if there is none.
        mutating func node(_ name: String) -> FormNode {
            if let index = indices[name] { return nodes[index] }
            indices[name] = names.count
            names.append(name)
            nodes.append(FormNode())
            return nodes[nodes.count - 1]
        }
    }

    /// The text of the value; `nil` if none was encoded, or if it was a `nil` that is dropped.
    var value: String?
    private(set) var elements: [FormNode]?
    private(set) var members: Members?
    /// The further values for the same key.
    private(set) var besides: [FormNode] = []

    /// Returns the node of a member; makes this node an object.
    func member(_ name: String) -> FormNode {
        var members = self.members.take() ?? Members()
        let node = members.node(name)
        self.members = members
        return node
    }

    /// Returns a new node at the end; makes this node an array.
    func append() -> FormNode {
        let node = FormNode()
        elements = elements ?? []
        elements?.append(node)
        return node
    }

    /// Returns a node for a further value of the same key.
    func beside() -> FormNode {
        let node = FormNode()
        besides.append(node)
        return node
    }

    var count: Int { elements?.count ?? 0 }

    func openObject() { if members == nil { members = Members() } }

    func openArray() { if elements == nil { elements = [] } }

    /// Whether nothing was written.
    var isEmpty: Bool { value == nil && elements == nil && members == nil && besides.allSatisfy(\.isEmpty) }

    /// Whether the node contains a value without a name, so that it cannot be the root of a form.
    var isNameless: Bool { value != nil || elements != nil || besides.contains(where: \.isNameless) }
}

extension URLEncodedFormEncoder {
    /// Writes a form as text.
    ///
    /// - Throws: ``Error/invalidRootObject(_:)`` when the root has no names.
    func write(_ root: FormNode, of value: any Encodable) throws -> String {
        if root.isNameless { throw Error.invalidRootObject("\(type(of: value))") }
        if root.isEmpty, value is any ExpressibleByNilLiteral {
            throw Error.invalidRootObject("\(type(of: value)): nil")
        }
        return joined(rootPairs(root))
    }

    private func rootPairs(_ root: FormNode) -> [String] {
        members(of: root) { keyEncoding.encode($0) } + root.besides.flatMap { rootPairs($0) }
    }

    private func write(_ node: FormNode, forKey key: String) -> String {
        var parts: [String] = []
        if let text = node.value {
            let space = spaceEncoding.text
            parts.append("\(escaping.escape(key, space: space))=\(escaping.escape(text, space: space))")
        }
        if let elements = node.elements {
            // Dropped elements are not counted, so that indices have no gaps.
            let present = elements.filter { !$0.isEmpty }
            // Elements are never sorted, as the order of an array has a meaning.
            parts += present.enumerated().map { write($1, forKey: arrayEncoding.encode(key, atIndex: $0)) }
        }
        if node.members != nil {
            parts.append(
                joined(members(of: node) { key + keyPathEncoding.encodeKeyPath(keyEncoding.encode($0)) }))
        }
        parts += node.besides.map { write($0, forKey: key) }
        return parts.filter { !$0.isEmpty }.joined(separator: "&")
    }

    private func members(of node: FormNode, _ key: (String) -> String) -> [String] {
        guard let members = node.members else { return [] }
        return zip(members.names, members.nodes).map { write($1, forKey: key($0)) }
    }

    private func joined(_ pairs: [String]) -> String {
        let present = pairs.filter { !$0.isEmpty }
        return (alphabetizeKeyValuePairs ? present.sorted() : present).joined(separator: "&")
    }
}
