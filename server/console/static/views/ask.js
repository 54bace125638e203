export const view = { id: "ask", mount(root) { root.textContent = "…"; } };
