"""The vectors of templates in Chroma: `store.TemplateStore`, `template_index.TemplateIndex`."""
